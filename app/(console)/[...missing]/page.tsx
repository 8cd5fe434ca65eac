/** Any other address: the notice stands in the frame of the console, for who is signed in. */
import { notFound } from "next/navigation";

export default function Page(): never {
  notFound();
}
