import { expect, test } from "vitest";
import { tokenOf } from "./token";

test("a token is taken from a link, from the line around it, or alone", () => {
  for (const text of [
    "http://127.0.0.1:7464/#token=0123abcd",
    "  open http://127.0.0.1:7464/#token=0123abcd in a browser\n",
    "http://127.0.0.1:7464/#recording=run.helenus&token=0123abcd&tab=sql",
    "#token=0123abcd",
    "token=0123abcd",
    " 0123abcd\n",
  ])
    expect(tokenOf(text), text).toBe("0123abcd");
});

test("other texts have no token", () => {
  for (const text of ["", " ", "http://127.0.0.1:7464/#recording=a", "#token=", "two words", "#token=ä", "ä"])
    expect(tokenOf(text), text).toBe("");
});
