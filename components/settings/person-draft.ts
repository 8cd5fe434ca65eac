/** What is typed for a new person, and what is wrong with it. The server checks it too. Pure. */
import type { PersonWay } from "#db/console/access/people.ts";
import { reasonError } from "./reason.ts";

export const MAX_EMAIL_CHARS = 190;
export const MAX_NAME_CHARS = 200;

export interface PersonDraft {
  email: string;
  name: string;
  way: PersonWay;
  reason: string;
}

export interface PersonErrors {
  email: string | null;
  name: string | null;
  reason: string | null;
}

export const NO_PERSON_ERRORS: PersonErrors = { email: null, name: null, reason: null };

export const WAY_WORDS: Readonly<Record<PersonWay, { label: string; hint: string }>> = {
  invite: {
    label: "With the identity provider",
    hint: "No password is kept here. Nothing is sent: tell them the address of the console.",
  },
  local: { label: "With a password", hint: "Made here and shown once. You hand it over." },
};

export function personErrors({ email, name, reason }: PersonDraft): PersonErrors {
  return {
    email: /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? null : "Give an e-mail address such as ann@example.com.",
    name: name.trim() === "" ? "Give the name by which others know this person." : null,
    reason: reasonError(reason),
  };
}

export function hasErrors(errors: PersonErrors): boolean {
  return Object.values(errors).some((error) => error !== null);
}
