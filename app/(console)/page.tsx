export const dynamic = "force-dynamic";
export default function P() { return <p>hello</p>; }
