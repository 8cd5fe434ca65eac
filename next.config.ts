/**
 * How the console is built and which headers every answer of it carries.
 * It must never name a region, a database or anything else that belongs to run time: the same build runs everywhere.
 */
import type { NextConfig } from "next";

/** For answers that are no page: nothing of them runs or is framed. Pages get theirs, with a nonce, from proxy.ts. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const SECURITY_HEADERS = [
  { key: "x-content-type-options", value: "nosniff" },
  { key: "x-frame-options", value: "DENY" },
  { key: "referrer-policy", value: "same-origin" },
  { key: "permissions-policy", value: "camera=(), geolocation=(), microphone=(), payment=(), usb=()" },
  { key: "cross-origin-opener-policy", value: "same-origin" },
  { key: "cross-origin-resource-policy", value: "same-origin" },
  // Browsers heed it over https only.
  { key: "strict-transport-security", value: "max-age=31536000" },
];

const config: NextConfig = {
  // Tests build into a folder of their own, so that a running console keeps its files.
  distDir: process.env.SLUICE_NEXT_DIST || ".next",
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
  agentRules: false,
  serverExternalPackages: [
    "pg",
    "graphile-worker",
    "undici",
    "pino",
    "@prisma/client",
    "@prisma/adapter-pg",
    "better-auth",
  ],
  typescript: {
    // Types are checked once, over every room, by `npm run typecheck`; the build does not repeat it.
    ignoreBuildErrors: true,
    // A config that extends another is one that Next leaves as it is.
    tsconfigPath: "app/tsconfig.json",
  },
  async headers() {
    return [
      { source: "/:path*", headers: SECURITY_HEADERS },
      { source: "/api/:path*", headers: [{ key: "content-security-policy", value: API_POLICY }] },
    ];
  },
};

export default config;
