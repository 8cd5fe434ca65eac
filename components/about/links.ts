/** Doors for programs that the about page names. A test checks that each of them exists. */

export const ABOUT_LINKS: readonly { href: string; label: string }[] = [];
