/** How the two large buttons of the sign-in look. */
const SHARED =
  "inline-flex h-10 w-full items-center justify-center rounded-md px-3 font-medium text-body transition-colors duration-100 disabled:opacity-50 max-md:h-11";

export const PRIMARY = `${SHARED} bg-accent-solid text-white hover:opacity-90`;
export const SECONDARY = `${SHARED} border border-line-strong bg-surface text-fg hover:bg-hover`;
