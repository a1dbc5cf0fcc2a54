//! The sandbox over real HTTP: what each network takes and refuses, what faults do, what the journal keeps.
#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod behaviour;
mod bluesky;
mod bluesky_limits;
mod consent;
mod control;
mod devto;
mod discord;
mod doors;
mod elsewhere;
mod facebook;
mod facebook_login;
mod faults;
mod google_business;
mod harness;
mod hashnode;
mod instagram;
mod journal;
mod lemmy;
mod linkedin;
mod linkedin_login;
mod mastodon;
mod pinterest;
mod slack;
mod stripe;
mod telegram;
mod telegram_media;
mod threads;
mod threads_limits;
mod threads_login;
mod tiktok;
mod vertex;
mod wordpress;
mod x;
mod x_login;
mod youtube;
