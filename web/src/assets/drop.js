// Sends files one by one as they are dropped, pasted or chosen, and says how each is doing. Without this script the page
// has a form that does the same at once.
"use strict";

const TOGETHER = 2;
const page = document.querySelector("main");
const form = document.getElementById("drop");

if (form && window.XMLHttpRequest) {
  const list = document.getElementById("list");
  const status = document.getElementById("status");
  const limits = { image: Number(form.dataset.image), video: Number(form.dataset.video) };
  const waiting = [];
  let left = Number(form.dataset.left);
  let running = 0;
  let done = 0;

  document.documentElement.classList.add("scripted");
  for (const time of document.querySelectorAll("time")) {
    const shown = new Date(time.dateTime);
    time.textContent = shown.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }

  const size = (bytes) => {
    for (const [unit, per] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]]) {
      if (bytes >= per) return `${(bytes / per).toFixed(bytes >= 100 * per ? 0 : 1)} ${unit}`;
    }
    return `${bytes} bytes`;
  };

  // What can be said before a byte is sent; the server looks at the bytes themselves.
  const objection = (file) => {
    const name = file.name.toLowerCase();
    const is = (...ends) => ends.some((end) => name.endsWith(end));
    if (is(".heic", ".heif") || /^image\/hei[cf]/.test(file.type)) {
      return "This is an HEIC photo, which networks do not take. Save it as JPEG and send that: on an iPhone, " +
        "Settings, Camera, Formats, Most Compatible makes new photos JPEG.";
    }
    if (is(".pdf") || file.type === "application/pdf") {
      return "PDF documents are not taken here. Save the pages as JPEG or PNG pictures and send those.";
    }
    if (file.size === 0) return "The file is empty.";
    const kind = file.type.startsWith("video/") ? "video" : "image";
    const limit = file.type ? limits[kind] : Math.max(limits.image, limits.video);
    if (file.size > limit) {
      return `The file has ${size(file.size)}; ${kind === "video" ? "videos" : "pictures"} may have ${size(limit)}. ` +
        "Send a smaller one.";
    }
    return "";
  };

  const button = (words, label, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
    return made;
  };

  const part = (kind, name) => {
    const made = document.createElement(kind);
    made.className = name;
    return made;
  };

  // A line of the list.
  class Line {
    constructor(file) {
      this.file = file;
      this.line = document.createElement("li");
      this.name = part("span", "name");
      this.name.textContent = file.name;
      this.says = part("span", "says");
      this.bar = document.createElement("progress");
      this.bar.max = file.size || 1;
      this.bar.setAttribute("aria-label", `Progress of ${file.name}`);
      this.actions = part("span", "do");
      this.line.append(this.look(), this.name, this.says, this.bar, this.actions);
      list.append(this.line);
    }

    look() {
      const look = part("span", "look");
      look.setAttribute("aria-hidden", "true");
      const kind = (this.file.name.split(".").pop() || "").slice(0, 4).toUpperCase();
      look.textContent = kind;
      if (/^image\/(jpeg|png|gif|webp)$/.test(this.file.type)) {
        const image = document.createElement("img");
        image.alt = "";
        image.src = URL.createObjectURL(this.file);
        image.addEventListener("load", () => URL.revokeObjectURL(image.src));
        image.addEventListener("error", () => look.replaceChildren(kind));
        look.replaceChildren(image);
      }
      return look;
    }

    show(state, words, ...actions) {
      this.line.className = state;
      this.says.textContent = words;
      this.bar.hidden = state === "done" || state === "failed";
      this.actions.replaceChildren(...actions);
    }

    cancel(action) {
      return button("Cancel", `Cancel ${this.file.name}`, () => {
        action();
        this.line.remove();
        tell();
        list.nextElementSibling.focus();
      });
    }

    fail(words, again) {
      const actions = [button("Remove", `Remove ${this.file.name}`, () => this.line.remove())];
      if (again) actions.unshift(button("Try again", `Try ${this.file.name} again`, () => queue(this)));
      this.show("failed", words, ...actions);
      tell();
    }
  }

  const tell = () => {
    const open = running + waiting.length;
    const files = (count) => `${count} ${count === 1 ? "file" : "files"}`;
    let words = done ? `${files(done)} sent.` : "";
    if (open) words += ` ${files(open)} on the way.`;
    else if (left <= 0) words += " All files of this page are in. You can close it.";
    else if (done) words += ` You can send ${files(left)} more, or close this page.`;
    status.textContent = words.trim();
    page.classList.toggle("full", left <= 0 && !open);
  };

  const queue = (line) => {
    waiting.push(line);
    line.bar.value = 0;
    line.show("waiting", `Waiting, ${size(line.file.size)}`, line.cancel(() => {
      const place = waiting.indexOf(line);
      if (place >= 0) waiting.splice(place, 1);
    }));
    next();
  };

  const next = () => {
    while (running < TOGETHER && waiting.length) {
      if (running >= left) break;
      send(waiting.shift());
    }
    if (left <= 0) {
      for (const line of waiting.splice(0)) line.fail("All files of this page are in, so this one was not sent.");
    }
    tell();
  };

  const send = (line) => {
    const { file } = line;
    const request = new XMLHttpRequest();
    const over = () => {
      running -= 1;
      next();
    };
    running += 1;
    request.open("PUT", `${form.action}/file?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.upload.addEventListener("progress", (event) => {
      line.bar.value = event.loaded;
      line.says.textContent = event.loaded < file.size
        ? `${size(event.loaded)} of ${size(file.size)}`
        : "Almost done: the file is being stored.";
    });
    request.addEventListener("load", () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // Something between us and the service answered; its status says enough.
      }
      if (request.status === 201) {
        done += 1;
        left -= 1;
        line.show("done", `Sent, ${size(file.size)}`);
      } else {
        const broken = (answer.validation_errors || [])[0];
        const words = [answer.error || `The service answered ${request.status}.`, broken && broken.remedy];
        if (request.status === 404) left = 0;
        line.fail(words.filter(Boolean).join(" "), request.status >= 500 || request.status === 429);
      }
      over();
    });
    request.addEventListener("error", () => {
      line.fail("The connection broke.", true);
      over();
    });
    request.addEventListener("abort", over);
    line.show("sending", `0 of ${size(file.size)}`, line.cancel(() => request.abort()));
    request.send(file);
  };

  const take = (files) => {
    for (const file of files) {
      const line = new Line(file);
      const wrong = objection(file);
      if (wrong) line.fail(wrong, false);
      else queue(line);
    }
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  for (const field of form.querySelectorAll("input[type=file]")) {
    field.addEventListener("change", () => {
      take([...field.files]);
      field.value = "";
    });
  }
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData ? event.clipboardData.files : [])];
    if (files.length) {
      event.preventDefault();
      take(files);
    }
  });
  let depth = 0;
  const over = (change) => {
    depth = Math.max(0, depth + change);
    page.classList.toggle("over", depth > 0);
  };
  addEventListener("dragenter", (event) => {
    event.preventDefault();
    over(1);
  });
  addEventListener("dragleave", () => over(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(-depth);
    take([...event.dataTransfer.files]);
  });
  addEventListener("beforeunload", (event) => {
    if (running) event.preventDefault();
  });
}
