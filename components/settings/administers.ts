/** Whether somebody administers a whole region, for what the pages offer: the server decides. Pure. */
import type { SignedIn } from "#components/shell/signed-in.tsx";
import type { Region } from "#domain/region.ts";

export function administersRegion(signedIn: SignedIn | null, region: Region): boolean {
  const roles = signedIn?.roles ?? [];
  return roles.some(
    ({ role, regions, tenants }) => role === "admin" && tenants === null && regions.includes(region),
  );
}
