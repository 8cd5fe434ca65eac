/**
 * How the console is built and which headers every answer of it carries.
 * It must never name a region, a database or anything else that belongs to run time: the same build runs everywhere.
 */
import type { NextConfig } from "next";

/**
 * Nothing is loaded from another origin. Inline scripts stay allowed because Next streams its page data
 * in them and the theme is set by one before the first paint.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS = [
  { key: "content-security-policy", value: CONTENT_SECURITY_POLICY },
  { key: "x-content-type-options", value: "nosniff" },
  { key: "x-frame-options", value: "DENY" },
  { key: "referrer-policy", value: "same-origin" },
  { key: "permissions-policy", value: "camera=(), geolocation=(), microphone=(), payment=(), usb=()" },
  { key: "cross-origin-opener-policy", value: "same-origin" },
];

const config: NextConfig = {
  // Tests build into a folder of their own, so that a running console keeps its files.
  distDir: process.env.SLUICE_NEXT_DIST || ".next",
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
  agentRules: false,
  serverExternalPackages: ["pg", "graphile-worker", "undici", "pino", "@prisma/client", "@prisma/adapter-pg"],
  typescript: {
    // Types are checked once, over every room, by `npm run typecheck`; the build does not repeat it.
    ignoreBuildErrors: true,
    // A config that extends another is one that Next leaves as it is.
    tsconfigPath: "app/tsconfig.json",
  },
  async headers() {
    return [{ source: "/:path*", headers: SECURITY_HEADERS }];
  },
};

export default config;
