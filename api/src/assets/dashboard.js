// Makes the dashboard's pages quicker to use. Every page is whole without this script.
"use strict";

document.documentElement.classList.add("has-scripts");

// A post of the calendar is dragged to another day: the form that moves it is filled in and sent.
const move = document.getElementById("move");
if (move) {
  let dragged = null;
  for (const chip of document.querySelectorAll(".chip[draggable]")) {
    chip.addEventListener("dragstart", (event) => {
      dragged = chip;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", chip.dataset.post);
    });
    chip.addEventListener("dragend", () => {
      dragged = null;
    });
  }
  for (const day of document.querySelectorAll("ol.calendar > li")) {
    const accepts = () => dragged && !day.contains(dragged);
    day.addEventListener("dragover", (event) => {
      if (!accepts()) return;
      event.preventDefault();
      day.classList.add("over");
    });
    day.addEventListener("dragleave", () => day.classList.remove("over"));
    day.addEventListener("drop", (event) => {
      if (!accepts()) return;
      event.preventDefault();
      move.elements.post.value = dragged.dataset.post;
      move.elements.day.value = day.dataset.day;
      move.submit();
    });
  }
}

// The composer: while somebody writes, the counters, the preview and what is missing keep up.
const composer = document.getElementById("composer");
if (composer) {
  const ask = async (part) => {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(composer)) {
      if (typeof value === "string") body.append(name, value);
    }
    body.set("part", part);
    const reply = await fetch(composer.dataset.part, { method: "POST", body, headers: { Accept: "text/html" } });
    if (!reply.ok || reply.redirected) throw new Error(`The service answered ${reply.status}.`);
    return reply.text();
  };
  const show = async (id, part) => {
    const text = await ask(part);
    const place = document.getElementById(id);
    if (place) place.innerHTML = text;
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
  const watched = ["account_id", "caption", "media", "media_url", "scheduled_at"];
  const isWatched = (field) => watched.includes(field.name) || (field.name || "").startsWith("set.");
  composer.addEventListener("input", (event) => isWatched(event.target) && soon());
  composer.addEventListener("change", async (event) => {
    if (event.target.name === "account_id") await show("settings", "settings").catch(() => {});
    if (isWatched(event.target)) soon();
  });

  // Files go to an upload page that is made for them, one after the other.
  const files = document.getElementById("files");
  const state = document.getElementById("upload-state");
  files?.addEventListener("change", async () => {
    const chosen = [...files.files];
    files.value = "";
    let failed = "";
    try {
      const page = new URL((await ask("upload")).trim());
      for (const [nth, file] of chosen.entries()) {
        state.textContent = `Uploading ${nth + 1} of ${chosen.length}: ${file.name}`;
        const target = `${page.pathname}/file?name=${encodeURIComponent(file.name)}`;
        const headers = { "Content-Type": file.type || "application/octet-stream" };
        const reply = await fetch(target, { method: "PUT", body: file, headers });
        if (!reply.ok) {
          const said = await reply.json().catch(() => ({}));
          failed = `${file.name}: ${said.error || `the service answered ${reply.status}.`}`;
        }
      }
    } catch {
      failed = "The files could not be uploaded. Try again.";
    }
    await show("media", "media").catch(() => {});
    state.textContent = failed || "The files are there. Choose those that belong to the post.";
  });
}

// The films keep themselves up to date while one of them is being made.
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
