/** A person is named, the product is the product, and what is neither keeps its name. */
import { expect, it } from "vitest";
import { actorWords } from "./actor-words.ts";

it.each([
  ["user:ann@example.com", "ann@example.com"],
  ["worker:0193a5c2-0000-7000-8000-000000000000", "the product"],
  ["system", "the product"],
  ["token:deploy", "token:deploy"],
  ["cli:ann", "cli:ann"],
  ["ann@example.com", "ann@example.com"],
  [null, "somebody"],
])("%s is %s", (actor, words) => {
  expect(actorWords(actor)).toBe(words);
});
