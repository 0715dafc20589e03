// Follows the end of the conversation for those who are there, and leaves everybody else where they read.

const NEAR = 60; // pixels

export class Scroll {
  constructor(scroller, content, button) {
    Object.assign(this, { scroller, button, following: true });
    scroller.addEventListener("scroll", () => {
      this.following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
      if (this.following) button.hidden = true;
    }, { passive: true });
    button.addEventListener("click", () => this.toEnd());
    const watch = new ResizeObserver(() => this.following && this.jump());
    watch.observe(scroller);
    watch.observe(content);
  }

  // Something new is at the end.
  news() {
    if (!this.following) this.button.hidden = false;
  }

  toEnd() {
    this.following = true;
    this.button.hidden = true;
    this.jump();
  }

  // Runs `change`, which adds lines above, and keeps what the person reads where it is.
  async keep(change) {
    const below = this.scroller.scrollHeight - this.scroller.scrollTop;
    this.following = false;
    await change();
    this.scroller.scrollTop = this.scroller.scrollHeight - below;
  }

  jump() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}
