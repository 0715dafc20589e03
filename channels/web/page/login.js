// A link opened from mail or another site does not bring the cookie along (SameSite=Strict), a request of this page does.
const known = await fetch("/api/commands", { method: "HEAD" }).then((answer) => answer.ok, () => false);
if (known) location.replace("/");

// A whole login link pasted into the field works as well.
const field = document.getElementById("token");
field.addEventListener("input", () => {
  const token = /[?&]token=([^&#\s]+)/.exec(field.value);
  if (token) field.value = decodeURIComponent(token[1]);
});
