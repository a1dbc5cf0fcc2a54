// Keeps the live part of a page up to date. Without this script the page is whole; reloading it shows what is new.
"use strict";

const live = document.getElementById("live");

if (live && "EventSource" in window) {
  const bar = document.createElement("p");
  bar.className = "livebar soft";
  const state = document.createElement("span");
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.className = "quiet";
  bar.append(state, " ", toggle);
  live.before(bar);

  let source = null;
  let held = false;
  const say = (words, action) => {
    state.textContent = words;
    toggle.textContent = action;
  };
  // A person who is inside with the keyboard, or has marked some of it, keeps what they are at.
  const isInUse = () => {
    const marked = getSelection();
    return live.contains(document.activeElement) || (!marked.isCollapsed && live.contains(marked.anchorNode));
  };
  const start = () => {
    held = false;
    source = new EventSource(live.dataset.live);
    source.addEventListener("open", () => say("Live.", "Hold still"));
    source.addEventListener("error", () => {
      // A browser comes back by itself after a dropped connection, and not after an answer that is no stream.
      if (source.readyState !== EventSource.CLOSED) return say("Waiting for the server…", "Hold still");
      source = null;
      say("Not live: the log-in has ended, or the server refuses. What stands here is old.", "Load the page again");
    });
    source.addEventListener("part", (event) => {
      if (isInUse()) return say("Held still while you are in it.", "Hold still");
      live.innerHTML = event.data;
      say("Live.", "Hold still");
    });
    say("Connecting…", "Hold still");
  };
  const stop = () => {
    source.close();
    source = null;
    held = true;
    say("Held still.", "Go on");
  };
  toggle.addEventListener("click", () => {
    if (source) return stop();
    if (held) return start();
    location.reload();
  });
  addEventListener("pagehide", () => source && source.close());
  start();
}
