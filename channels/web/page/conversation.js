// What is known of the conversation, from three sources, as one list: the tape's lines, the replies that came since it
// was read, and the messages that are not on it yet. A line's key is the same from whichever source it comes.

export class Conversation {
  constructor(chat) {
    this.prefix = `web/local/${chat}:`;
    this.lines = [];
    this.waiting = false;
    this.earlier = 0;
    this.replies = new Map();
    this.previews = new Map();
    this.typing = false;
    this.loaded = false;
  }

  // The answer of /api/history. Returns the client's ids of the messages that need no more sending.
  read({ lines, waiting, earlier, settled }) {
    Object.assign(this, { lines, waiting, earlier, loaded: true });
    const told = lines.filter((line) => !line.pending);
    const turns = this.turns();
    for (const turn of this.replies.keys()) if (turns.has(turn)) this.replies.delete(turn);
    for (const turn of this.previews.keys()) if (turns.has(turn)) this.previews.delete(turn);
    if (!waiting && !this.previews.size) this.typing = false;
    return this.clients([...settled, ...told.filter((line) => line.kind === "person").map((line) => line.id)]);
  }

  // A live reply, and what this browser has pending. Returns as `read`.
  reply(reply, pending) {
    this.previews.delete(reply.turn);
    this.typing = false;
    if (!this.turns().has(reply.turn)) {
      const known = this.replies.get(reply.turn);
      const parts = known?.parts ?? [];
      parts[reply.part] = reply;
      const said = known?.said ?? pending.find((message) => this.prefix + message.id === reply.turn);
      const text = parts.map((part) => part.text).join("\n");
      const html = parts.map((part) => part.html).join("");
      this.replies.set(reply.turn, { said, parts, text, html, date: new Date().toISOString() });
    }
    return this.clients([reply.turn]);
  }

  preview(preview) {
    if (!this.turns().has(preview.turn) && !this.replies.has(preview.turn)) this.previews.set(preview.turn, preview);
  }

  // The turns that are over.
  turns() {
    return new Set(this.lines.filter((line) => line.kind !== "person" && line.turn).map((line) => line.turn));
  }

  clients(ids) {
    return new Set(ids.filter((id) => id.startsWith(this.prefix)).map((id) => id.slice(this.prefix.length)));
  }

  // The lines to show. `pending`: this browser's own, `accepted`: those of them that the gateway has.
  view(pending, accepted) {
    const shown = this.lines.filter((line) => !line.pending).map((line) => ({ ...line, key: key(line) }));
    const known = new Set(shown.map((line) => line.key));
    const mine = new Map(pending.map((message) => [this.prefix + message.id, message]));
    const others = this.lines.filter((line) => line.pending && !mine.has(line.id));
    for (const line of others) shown.push({ ...line, key: key(line), state: "waiting" });
    for (const [id, message] of mine) {
      if (known.has(`person ${id}`)) continue;
      const state = message.refused ? "refused" : accepted.has(message.id) ? "waiting" : "sending";
      shown.push({ kind: "person", key: `person ${id}`, id, client: message.id, ...message, state });
    }
    for (const [turn, { said, text, html, date }] of this.replies) {
      const asked = { kind: "person", key: `person ${turn}`, ...said };
      const at = shown.findIndex((line) => line.key === asked.key);
      const answered = [{ kind: "bot", key: `bot ${turn}`, text, html, date }];
      if (at >= 0) answered.unshift({ ...shown[at], state: undefined });
      else if (said) answered.unshift(asked);
      shown.splice(at < 0 ? shown.length : at, at < 0 ? 0 : 1, ...answered);
    }
    return withDays(shown);
  }
}

function key(line) {
  return `${line.kind} ${line.id}`;
}

function withDays(lines) {
  const shown = [];
  let last = "";
  for (const line of lines) {
    const day = new Date(line.date).toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" });
    if (day !== last) shown.push({ kind: "day", key: `day ${day}`, text: day, date: line.date });
    last = day;
    shown.push(line);
  }
  return shown;
}
