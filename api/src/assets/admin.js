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
  const say = (words, action) => {
    state.textContent = words;
    toggle.textContent = action;
  };
  const start = () => {
    source = new EventSource(live.dataset.live);
    source.addEventListener("open", () => say("Live.", "Hold still"));
    source.addEventListener("error", () => say("Waiting for the server…", "Hold still"));
    source.addEventListener("part", (event) => {
      // Whoever is inside with the keyboard keeps what they are at.
      if (!live.contains(document.activeElement)) live.innerHTML = event.data;
    });
    say("Connecting…", "Hold still");
  };
  const stop = () => {
    source.close();
    source = null;
    say("Held still.", "Go on");
  };
  toggle.addEventListener("click", () => (source ? stop() : start()));
  addEventListener("pagehide", () => source && source.close());
  start();
}
