// Sends what was typed: in order, one at a time, again and again until the gateway has it. An id names a message for
// ever, so a second copy of the same request is never a second message.

const LONGEST_WAIT = 15_000;
// The gateway knows an id for at least 48 hours: an older message could be taken twice, so the person decides.
const SAFE = 24 * 3_600_000;
const OLD = "This could not be sent for a day. Do you still want to send it?";

export class Outbox {
  // `changed()`: what is pending looks different now. `out()`: the login is over.
  constructor(chat, memory, { changed, out }) {
    Object.assign(this, { chat, memory, changed, out });
    this.messages = memory.pending;
    this.accepted = new Set();
    this.busy = false;
    this.failures = 0;
    this.timer = 0;
    memory.onChange(() => {
      this.messages = memory.pending;
      this.changed();
    });
  }

  add(text) {
    this.keep([...this.messages, { id: uuid(), text, date: new Date().toISOString() }]);
    this.flush();
  }

  // `ids`: the tape has them, or they were answered, or the person took them back.
  drop(ids) {
    if (this.messages.some((message) => ids.has(message.id))) {
      this.keep(this.messages.filter((message) => !ids.has(message.id)));
    }
  }

  // The connection is new: whoever listens there may not have what the last one was told.
  again() {
    this.accepted.clear();
    this.failures = 0;
    this.flush();
  }

  async flush() {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    this.age();
    for (let next; (next = this.messages.find((m) => !m.refused && !this.accepted.has(m.id))); ) {
      const wait = await this.post(next);
      if (wait) {
        this.timer = setTimeout(() => this.flush(), wait);
        break;
      }
      this.changed();
    }
    this.busy = false;
  }

  // Milliseconds to wait before the next try; 0 when this message needs none.
  async post(message) {
    let answer;
    try {
      answer = await fetch("/api/messages", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ chat: this.chat, id: message.id, text: message.text }),
      });
    } catch {
      return this.later();
    }
    if (answer.ok) {
      this.failures = 0;
      this.accepted.add(message.id);
      this.change(message.id, { taken: true });
      return 0;
    }
    if (answer.status === 401) {
      this.out();
      return LONGEST_WAIT;
    }
    if (answer.status >= 500) return this.later(Number(answer.headers.get("Retry-After")) * 1000);
    const { error } = await answer.json().catch(() => ({}));
    this.refuse(message.id, error || "The gateway did not take this.");
    return 0;
  }

  // It will not be taken as it is; `why` is a sentence for the person.
  refuse(id, why) {
    this.change(id, { refused: why });
  }

  change(id, more) {
    this.keep(this.messages.map((message) => (message.id === id ? { ...message, ...more } : message)));
  }

  age() {
    const old = this.messages.filter((m) => !m.refused && Date.now() - Date.parse(m.date) > SAFE);
    this.drop(new Set(old.filter((message) => message.taken).map((message) => message.id)));
    for (const message of old) if (!message.taken) this.refuse(message.id, OLD);
  }

  later(asked = 0) {
    this.failures += 1;
    return Math.min(Math.max(asked, 500 * 2 ** Math.min(this.failures, 6)), LONGEST_WAIT);
  }

  keep(messages) {
    this.memory.pending = this.messages = messages;
    this.changed();
  }
}

function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
