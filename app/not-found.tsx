/** A page that does not exist, where there is no frame around it. */
export { default } from "./(console)/not-found.tsx";
