// The page: what was typed goes out, what happens comes in, and both are drawn as one conversation.

import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { copyText, Log } from "./log.js";
import { Memory } from "./memory.js";
import { Outbox } from "./outbox.js";
import { Scroll } from "./scroll.js";
import { Stream } from "./stream.js";

const STATES = { connected: "connected", reconnecting: "reconnecting…", out: "logged out" };
const MORE = 400;
const LATER = 3_000;

const at = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search).get("chat") ?? "";
const chat = /^[\w-]{1,64}$/.test(asked) ? asked : "main";
const title = document.title;

const memory = new Memory(chat);
const conversation = new Conversation(chat);
const scroll = new Scroll(at("scroller"), at("content"), at("unread"));
const log = new Log(at("log"), {
  edit(id, text) {
    outbox.drop(new Set([id]));
    composer.write(text);
  },
  remove: (id) => outbox.drop(new Set([id])),
});
const outbox = new Outbox(chat, memory, { changed: draw, out: () => state("out") });
const composer = new Composer(at("composer"), memory, send);

let limit = 200;
let unread = 0;
let canStop = false;
let reading = null;
let frame = 0;
let later = 0;

const stream = new Stream(chat, {
  state,
  hello() {
    outbox.again();
    read();
    if (!composer.commands.length) commands();
  },
  beat: () => working() && read(),
  typing() {
    conversation.typing = true;
    drawSoon();
  },
  preview(preview) {
    conversation.preview(preview);
    drawSoon();
  },
  async reply(reply) {
    // A reply about a message, not to it: the message was not taken.
    const about = outbox.messages.find((m) => reply.turn.startsWith(`${conversation.prefix}${m.id}/`));
    if (about) {
      outbox.refuse(about.id, reply.text);
      return read();
    }
    const settled = conversation.reply(reply, outbox.messages);
    // The tape has it by now and knows its place; without an answer it is shown where it seems to belong.
    await read();
    outbox.drop(settled);
    draw();
  },
});

function send(text) {
  scroll.toEnd();
  outbox.add(text);
  scroll.toEnd();
}

// One request at a time; who asks meanwhile gets a later one, since the tape may have moved.
function read() {
  if (reading) {
    reading.again ??= reading.then(() => read());
    return reading.again;
  }
  reading = fetchHistory().finally(() => (reading = null));
  return reading;
}

async function fetchHistory() {
  const query = new URLSearchParams({ chat, limit, pending: outbox.messages.map((message) => message.id) });
  const answer = await fetch(`/api/history?${query}`).catch(() => null);
  if (answer?.status === 401) state("out");
  const history = answer?.ok ? await answer.json().catch(() => null) : null;
  if (!history) {
    clearTimeout(later);
    later = setTimeout(() => stream.source && read(), LATER);
    return;
  }
  const first = !conversation.loaded;
  outbox.drop(conversation.read(history));
  draw();
  if (first) {
    if (history.lines.length) scroll.toEnd();
    else scroll.following = false;
    // What was here before is not news; from now on new lines are read out.
    requestAnimationFrame(() => at("log").setAttribute("aria-live", "polite"));
  }
}

async function commands() {
  const answer = await fetch("/api/commands").catch(() => null);
  if (!answer?.ok) return;
  const listed = (await answer.json()).commands;
  composer.commands = listed.map(({ name, about }) => {
    const [word, ...rest] = name.replace(/^\//, "").split(" ");
    return { name: word, rest: rest.join(" "), about };
  });
  composer.changed(); // a slash may have been typed before the list was here
  canStop = composer.commands.some((command) => command.name === "stop");
  at("empty-commands").hidden = !composer.commands.length;
  draw();
}

function working() {
  const { typing, waiting, previews } = conversation;
  return typing || waiting || previews.size > 0 || outbox.messages.some((m) => !m.refused && outbox.accepted.has(m.id));
}

function drawSoon() {
  frame ||= requestAnimationFrame(draw);
}

function draw() {
  cancelAnimationFrame(frame);
  frame = 0;
  const before = conversation.loaded && log.drawn.size;
  const lines = conversation.view(outbox.messages, outbox.accepted);
  const fresh = log.draw(lines);
  if (before && fresh.length) {
    scroll.news();
    count(fresh.length);
  }
  const busy = working();
  const previews = [...conversation.previews.values()];
  at("empty").hidden = !conversation.loaded || lines.length > 0 || previews.length > 0 || busy;
  at("earlier").hidden = !conversation.earlier;
  at("typing").hidden = !busy || stream.source === null;
  at("stop").hidden = !busy || !canStop;
  drawPreviews(previews);
}

function drawPreviews(previews) {
  const place = at("preview");
  while (place.children.length > previews.length) place.lastChild.remove();
  for (const [index, preview] of previews.entries()) {
    const box = place.children[index] ?? place.appendChild(document.createElement("div"));
    box.className = "prose";
    if (box.dataset.text !== preview.text) box.innerHTML = preview.html;
    box.dataset.text = preview.text;
  }
}

function state(name) {
  at("state").dataset.state = name;
  at("state").textContent = STATES[name];
  if (name === "out") {
    const link = document.createElement("a");
    link.href = "/";
    link.textContent = "Log in again";
    at("state").append(": ", link);
  }
  if (conversation.loaded) draw();
}

function count(more) {
  unread = document.hidden ? unread + more : 0;
  document.title = unread ? `(${unread}) ${title}` : title;
}

document.addEventListener("visibilitychange", () => count(0));
at("stop").addEventListener("click", () => outbox.add("/stop"));
at("earlier").addEventListener("click", () => {
  limit += MORE;
  scroll.keep(read);
});
at("empty").addEventListener("click", (event) => {
  const example = event.target.closest("button");
  if (example) composer.write(example.textContent);
});
at("log").addEventListener("click", (event) => {
  const copy = event.target.closest("button.copy");
  if (copy) copyText(copy.closest(".code").querySelector("code").textContent, copy);
});
draw();
composer.field.focus();
