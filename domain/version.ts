/** The version of this build. A test compares it with the package's own. */
export const VERSION = "0.1.0";
