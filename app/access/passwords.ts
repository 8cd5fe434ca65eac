/** Passwords of local accounts that are made in the console: hashed as better-auth reads them, never stored in the clear. */
import "server-only";
import { randomBytes } from "node:crypto";
import { hashPassword } from "better-auth/crypto";

const PASSWORD_BYTES = 15;

/** 20 characters that can be typed and selected with one double click, as those of `sluice users add --local`. */
export async function newPassword(): Promise<{ password: string; passwordHash: string }> {
  const password = randomBytes(PASSWORD_BYTES)
    .toString("base64url")
    .replaceAll("-", "x")
    .replaceAll("_", "y");
  return { password, passwordHash: await hashPassword(password) };
}
