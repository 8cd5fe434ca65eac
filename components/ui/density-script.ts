/**
 * Runs before the first paint, so that rows do not change their height in front of the reader. It stands in a file of its
 * own because the server writes it into the page; it must hold nothing that comes from outside.
 */
export const DENSITY_SCRIPT =
  'try{if(localStorage.getItem("sluice.density")==="compact")document.documentElement.dataset.density="compact"}catch{}';
