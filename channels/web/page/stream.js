// The one connection that tells this page what happens. It may break at any time: whoever listens reads history on
// every `hello`, so a gap loses nothing.

const SILENCE = 40_000; // The gateway beats every 3 s: longer silence is a dead line that nobody closed.
const LONGEST_WAIT = 8_000;
const EVENTS = ["typing", "preview", "reply"];

export class Stream {
  // `on`: hello(), beat(), typing(), preview(data), reply(data), state("connected" | "reconnecting" | "out").
  constructor(chat, on) {
    this.url = `/api/events?chat=${encodeURIComponent(chat)}`;
    this.on = on;
    this.failures = 0;
    this.timer = this.watch = 0;
    addEventListener("online", () => this.hurry());
    addEventListener("pageshow", (event) => event.persisted && this.hurry());
    addEventListener("pagehide", () => this.close());
    document.addEventListener("visibilitychange", () => document.hidden || this.source || this.hurry());
    this.open();
  }

  open() {
    this.close();
    const source = (this.source = new EventSource(this.url));
    source.onerror = () => this.lost();
    source.addEventListener("hello", () => {
      this.failures = 0;
      this.alive();
      this.on.state("connected");
      this.on.hello();
    });
    source.addEventListener("beat", () => {
      this.alive();
      this.on.beat();
    });
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        this.alive();
        this.on[name](JSON.parse(event.data));
      });
    }
    this.alive();
  }

  alive() {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.lost(), SILENCE);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.source?.close();
    this.source = null;
  }

  lost() {
    this.close();
    this.on.state("reconnecting");
    const wait = Math.min(250 * 2 ** this.failures, LONGEST_WAIT) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.timer = setTimeout(() => this.retry(), wait);
  }

  hurry() {
    if (this.source) return;
    clearTimeout(this.timer);
    this.retry();
  }

  // An EventSource cannot say why it failed; a plain request can.
  async retry() {
    const answer = await fetch("/api/commands", { method: "HEAD" }).catch(() => null);
    if (answer?.status === 401) {
      this.close();
      this.on.state("out");
    } else if (answer?.ok) this.open();
    else this.lost();
  }
}
