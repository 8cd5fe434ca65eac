/** Joins class names. One place, so that no component brings its own way. */
export { clsx as cx } from "clsx";
