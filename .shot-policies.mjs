import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { findBrowser } from "/work/main/scripts/lib/browser.ts";
import { signInAs } from "/work/main/e2e/support/accounts.ts";
const url = "http://127.0.0.1:4810";
const text = readFileSync("/tmp/dev/.sluice/demo-accounts.txt","utf8");
const find = (who) => { const l = text.split("\n").find((x)=>x.startsWith(who+"@")); const [email,password]=l.trim().split(/\s+/); return {email,password,name:who}; };
const state = await signInAs(url, find("admin"));
const browser = await chromium.launch(findBrowser());
try {
  for (const [w,h,c] of [[1360,900,"light"],[360,740,"dark"]]) {
    const ctx = await browser.newContext({ viewport:{width:w,height:h}, colorScheme:c, storageState: state });
    const page = await ctx.newPage();
    page.setDefaultTimeout(90000);
    page.on("console", (m)=>{ if(m.type()==="error") console.log(w, m.text().slice(0,300)); });
    if (w===1360) { const r = await ctx.request.get(url+"/metrics",{timeout:90000}); console.log(r.status(), r.headers()["content-type"]); console.log(await r.text()); }
    await page.goto(url+"/settings?tab=policies");
    const panel = page.getByRole("region", { name: "Replay policy in US" });
    await panel.getByRole("row",{name:/Oldest due/}).waitFor();
    await panel.scrollIntoViewIfNeeded();
    await page.screenshot({ path:`/tmp/b4/shots/policies/page-${w}.png`, fullPage:true });
    await panel.getByRole("button",{name:"Change policy"}).click();
    await page.getByRole("textbox",{name:/Oldest due but unclaimed/}).fill("90");
    await page.getByRole("textbox",{name:/Longest run/}).fill("abc");
    await page.screenshot({ path:`/tmp/b4/shots/policies/dialog-${w}.png` });
    console.log(w, await page.evaluate(()=>document.documentElement.scrollWidth));
    await ctx.close();
  }
} finally { await browser.close(); }
