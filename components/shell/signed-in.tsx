"use client";
/**
 * Who is signed in, for the parts of a page that show it. It only repeats what the server checks anyway: nothing here
 * allows anything.
 */
import { createContext, type ReactNode, useContext } from "react";
import type { Action, Role } from "#domain/permissions.ts";
import { REGIONS, type Region } from "#domain/region.ts";

export interface SignedIn {
  name: string;
  /** Null for a service token. */
  email: string | null;
  /** One line per grant. */
  roles: { role: Role; regions: Region[] /** Null: all tenants. */; tenants: number | null }[];
  /** Regions that may be read, in their order. */
  regions: Region[];
  /** Actions that are allowed somewhere. */
  actions: Action[];
}

const SignedInContext = createContext<SignedIn | null>(null);

/** Stands around every page behind the sign-in. */
export function SignedInProvider({ value, children }: { value: SignedIn; children: ReactNode }) {
  return <SignedInContext value={value}>{children}</SignedInContext>;
}

/** Null outside of the console's pages. */
export function useSignedIn(): SignedIn | null {
  return useContext(SignedInContext);
}

/** The regions that pages offer. */
export function useRegions(): readonly Region[] {
  return useSignedIn()?.regions ?? REGIONS;
}

/** The region of a list whose address names none, or names one that is not offered. */
export function useListRegion(asked: Region | null): Region {
  const regions = useRegions();
  return asked ?? regions[0] ?? REGIONS[0];
}

/** "Operator in US", "Viewer in US and EU, 2 tenants". */
export function grantWords({ role, regions, tenants }: SignedIn["roles"][number]): string {
  const where = regions.map((region) => region.toUpperCase()).join(" and ");
  const whom = tenants === null ? "" : `, ${tenants} ${tenants === 1 ? "tenant" : "tenants"}`;
  return `${role.charAt(0).toUpperCase()}${role.slice(1)} in ${where}${whom}`;
}
