import { h, setText } from "../dom";
import { type Client, Refused } from "./client";
import { tokenOf } from "./token";

/** A field for the token, or the link with it. */
export function tokenForm(client: Client): { root: HTMLFormElement; field: HTMLInputElement } {
  // Without a name, and never filled in by the browser: the token is in no address and in no history.
  const field = h("input", { type: "text", autocomplete: "off", spellcheck: "false", required: true });
  const said = h("span", { role: "status" });
  const root = h(
    "form",
    { hidden: true, "aria-label": "Token" },
    h("label", {}, "Link or token ", field),
    h("button", { type: "submit", class: "primary" }, "Go on"),
    said,
  );
  root.addEventListener("submit", async (event) => {
    event.preventDefault();
    const token = tokenOf(field.value);
    if (token === "") {
      setText(said, "There is no token in this text.");
      return;
    }
    setText(said, "Asking the server …");
    try {
      await client.use(token);
      field.value = "";
      setText(said, "");
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      setText(said, cause instanceof Refused ? "The server refuses this token." : why);
    }
  });
  return { root, field };
}
