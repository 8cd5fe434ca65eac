/** A page that does not exist, where there is no frame around it. */
import NotFound from "./(console)/not-found.tsx";

export default function BareNotFound() {
  return (
    <main>
      <NotFound />
    </main>
  );
}
