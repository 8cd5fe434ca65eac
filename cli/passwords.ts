/** Passwords of local accounts: made here, hashed as better-auth reads them, never stored in the clear. */
import { randomBytes } from "node:crypto";
import { hashPassword } from "better-auth/crypto";

export { hashPassword };

const PASSWORD_BYTES = 15;

/** 20 characters that can be typed and selected with one double click. */
export function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString("base64url").replaceAll("-", "x").replaceAll("_", "y");
}
