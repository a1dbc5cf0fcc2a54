// Makes the dashboard's pages quicker to use. Every page is whole without this script.
"use strict";

document.documentElement.classList.add("has-scripts");

// A post of the calendar is dragged to another day: the form that moves it is filled in and sent.
const move = document.getElementById("move");
if (move) {
  let dragged = null;
  const dayOf = (event) => event.target.closest?.("ol.calendar > li");
  const accepts = (day) => dragged && day && !day.contains(dragged);
  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.(".chip[draggable]");
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.post);
  });
  document.addEventListener("dragend", () => {
    dragged = null;
  });
  document.addEventListener("dragover", (event) => {
    const day = dayOf(event);
    if (!accepts(day)) return;
    event.preventDefault();
    day.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => dayOf(event)?.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    const day = dayOf(event);
    if (!accepts(day)) return;
    event.preventDefault();
    move.elements.post.value = dragged.dataset.post;
    move.elements.day.value = day.dataset.day;
    move.submit();
  });
}

// A page whose content changes by itself is read again, unless somebody is using a form in it.
const live = document.getElementById("live");
if (live && "follow" in live.dataset) {
  const isInUse = () => live.querySelector("form :focus, details[open] form") || live.querySelector(".chip:active");
  const look = async () => {
    if (!document.hidden && !isInUse()) {
      const reply = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
      if (reply?.redirected) return;
      const fresh = reply?.ok && new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("live");
      if (fresh && !isInUse()) {
        if (fresh.innerHTML !== live.innerHTML) live.innerHTML = fresh.innerHTML;
        if (!("follow" in fresh.dataset)) return;
      }
    }
    setTimeout(look, 2000);
  };
  setTimeout(look, 1000);
}

// The composer: while somebody writes, the counters, the preview and what is missing keep up.
const composer = document.getElementById("composer");
if (composer) {
  const ask = async (part, more = []) => {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(composer)) {
      if (typeof value === "string") body.append(name, value);
    }
    for (const [name, value] of more) body.append(name, value);
    body.set("part", part);
    const reply = await fetch(composer.dataset.part, { method: "POST", body, headers: { Accept: "text/html" } });
    if (!reply.ok || reply.redirected) throw new Error(`The service answered ${reply.status}.`);
    return reply.text();
  };
  const typedIn = (place) =>
    JSON.stringify(Array.from(place.querySelectorAll("input, select, textarea"), (field) => [field.value, field.checked]));
  const putInto = (place, text) => {
    const at = place.contains(document.activeElement) ? document.activeElement : null;
    place.innerHTML = text;
    const again = at?.id && document.getElementById(at.id);
    if (!again) return;
    again.focus();
    if (typeof at.selectionStart === "number") again.setSelectionRange(at.selectionStart, at.selectionEnd);
  };
  // An answer to what stood there before somebody typed on would take their words away, so it is asked for again.
  const show = async (id, part, more) => {
    const place = document.getElementById(id);
    if (!place) return;
    for (;;) {
      const asked = typedIn(place);
      const text = await ask(part, more);
      if (typedIn(place) === asked) return putInto(place, text);
    }
  };

  // Changes of the files take turns, so that each begins from what the one before it left.
  let turn = Promise.resolve();
  const showFiles = (more) => {
    turn = turn.catch(() => {}).then(() => show("media", "media", more));
    return turn;
  };

  // One check runs at a time; what changes meanwhile is checked after it.
  let waiting = 0;
  let running = false;
  let again = false;
  const check = async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      await show("result", "result");
    } catch {
      // The button “Check” still works.
    }
    running = false;
    if (again) {
      again = false;
      check();
    }
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(check, 500);
  };
  const watched = ["account_id", "caption", "media", "alt", "media_url", "scheduled_at"];
  const isWatched = (field) => watched.includes(field.name) || /^(set|own)\./.test(field.name || "");
  composer.addEventListener("input", (event) => {
    if (!isWatched(event.target)) return;
    // What was wrong on an account at the last step may be right by now: the check says it.
    for (const old of composer.querySelectorAll("#settings .problems")) old.remove();
    soon();
  });
  composer.addEventListener("change", async (event) => {
    if (event.target.name === "account_id") {
      await show("settings", "settings").catch(() => {});
      await showFiles().catch(() => {});
    }
    if (isWatched(event.target)) soon();
  });

  // Files are added, moved and removed at once; without scripts each button loads the page.
  const state = document.getElementById("upload-state");
  const changeFiles = async (changes, said) => {
    await showFiles(changes);
    state.textContent = said;
    soon();
    keep();
  };
  const said = { add: "The file was added.", up: "The file was moved up.", down: "The file was moved down.", remove: "The file was removed." };
  composer.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || !(button.name in said)) return;
    event.preventDefault();
    const place = Number(button.value) + { up: -1, down: 1 }[button.name];
    changeFiles([[button.name, button.value]], said[button.name])
      .then(() => document.getElementById(`alt-${place}`)?.focus())
      .catch(() => (state.textContent = "That did not work. Try again."));
  });

  // Files go to an upload page that is made for them, one after the other, and belong to the post then.
  const files = document.getElementById("files");
  files?.addEventListener("change", async () => {
    const chosen = [...files.files];
    const uploaded = [];
    files.value = "";
    let failed = "";
    try {
      const page = new URL((await ask("upload")).trim());
      for (const [nth, file] of chosen.entries()) {
        state.textContent = `Uploading ${nth + 1} of ${chosen.length}: ${file.name}`;
        const target = `${page.pathname}/file?name=${encodeURIComponent(file.name)}`;
        const headers = { "Content-Type": file.type || "application/octet-stream" };
        const reply = await fetch(target, { method: "PUT", body: file, headers });
        const answer = await reply.json().catch(() => ({}));
        if (reply.ok) uploaded.push(answer.asset_id);
        else failed = `${file.name}: ${answer.error || `the service answered ${reply.status}.`}`;
      }
    } catch {
      failed = "The files could not be uploaded. Try again.";
    }
    await showFiles().catch(() => {});
    const buttons = uploaded.map((id) => document.querySelector(`#media button[data-asset="${id}"]`)).filter(Boolean);
    const changes = buttons.map((button) => ["add", button.value]);
    await changeFiles(changes, failed || "The files are there and belong to the post.").catch(() => {});
  });

  // What was typed is kept in this browser until it is sent or thrown away.
  const place = `fanfare-composer:${composer.dataset.kept}`;
  const skipped = ["csrf", "once", "do"];
  const keep = () => {
    const fields = [...new FormData(composer)].filter(([name, value]) => typeof value === "string" && !skipped.includes(name));
    if (!fields.some(([name, value]) => value.trim() && name !== "account_id")) return;
    try {
      localStorage.setItem(place, JSON.stringify(fields));
    } catch {
      // The browser keeps nothing: the form itself still holds it.
    }
  };
  composer.addEventListener("input", keep);
  composer.addEventListener("submit", (event) => {
    keep();
    if (["draft", "schedule", "publish"].includes(event.submitter?.value)) sessionStorage.setItem("fanfare-sent", place);
  });
  sessionStorage.removeItem("fanfare-sent");
  const kept = "fresh" in composer.dataset && JSON.parse(localStorage.getItem(place) || "null");
  if (kept) {
    const set = (name, value) => {
      for (const field of composer.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
        if (field.type === "checkbox") field.checked ||= field.value === value;
        else if (field.type !== "hidden" && field.tagName !== "BUTTON") field.value = value;
      }
    };
    const isFile = ([name]) => name === "media" || name === "alt";
    const restore = async () => {
      for (const [name, value] of kept.filter((field) => !isFile(field))) set(name, value);
      await showFiles(kept.filter(isFile)).catch(() => {});
      await show("settings", "settings", kept.filter(([name]) => /^(set|own)\./.test(name))).catch(() => {});
      soon();
    };
    const note = document.createElement("div");
    note.className = "flash plain";
    note.setAttribute("role", "status");
    note.innerHTML = "<p>This is what you had not sent yet. <button type=button class=quiet>Throw it away</button></p>";
    note.querySelector("button").addEventListener("click", () => {
      localStorage.removeItem(place);
      location.reload();
    });
    composer.before(note);
    restore();
  }
} else if (sessionStorage.getItem("fanfare-sent")) {
  // The composer leads to what it made: only then it has been sent.
  const isMade = /^\/dashboard\/(posts(\/\d+)?|sets\/[0-9a-f-]+)$/.test(location.pathname);
  const isNext = document.referrer && new URL(document.referrer).pathname === "/dashboard/posts/new";
  if (isMade && isNext) localStorage.removeItem(sessionStorage.getItem("fanfare-sent"));
  sessionStorage.removeItem("fanfare-sent");
}

// Nothing that was typed stays in this browser after a log-out.
document.querySelector("form.who")?.addEventListener("submit", () => {
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith("fanfare-composer:")) localStorage.removeItem(name);
  }
});

// The videos keep themselves up to date while one of them is being made.
const jobs = document.getElementById("jobs");
if (jobs) {
  const look = async () => {
    const isOpen = jobs.querySelector("[data-open]");
    const isInUse = jobs.contains(document.activeElement) || jobs.querySelector("input:checked");
    if (isOpen && !isInUse && !document.hidden) {
      const reply = await fetch(jobs.dataset.live).catch(() => null);
      if (reply && reply.ok && !reply.redirected) jobs.innerHTML = await reply.text();
    }
    setTimeout(look, 3000);
  };
  setTimeout(look, 3000);
}
