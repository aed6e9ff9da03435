// Drives a VS Code in Chromium: open a file, see squiggles, quick fix, fix on save; then the same in a notebook.
// Environment: URL of the editor, WORKSPACE with a.py, b.py and n.ipynb, CHROMIUM, SHOTS (a folder for screenshots).
const { chromium } = require("playwright-core");
const fs = require("fs");

const { URL, WORKSPACE, CHROMIUM, SHOTS } = process.env;
const begun = Date.now();
const say = (text) => console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s  ${text}`);

async function until(what, holds, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  say(what);
}

const onDisk = (name) => fs.readFileSync(`${WORKSPACE}/${name}`, "utf8");
const squiggles = (page) => page.locator(".squiggly-warning, .squiggly-error").count();

async function open(page, name) {
  await page.keyboard.press("Control+P");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(name);
  await page.waitForSelector(`.quick-input-list [aria-label^="${name}"]`, { timeout: 60000 });
  await page.keyboard.press("Enter");
  await page.waitForSelector(`.tab.active[aria-label^="${name}"]`, { timeout: 60000 });
}

async function run(page) {
  await page.goto(`${URL}/?folder=${WORKSPACE}`);
  await page.waitForSelector(".monaco-workbench", { timeout: 120000 });
  say("workbench");
  await page.waitForSelector('.explorer-folders-view [aria-label^="a.py"]', { timeout: 120000 });

  await open(page, "a.py");
  await until("a.py: two squiggles", async () => (await squiggles(page)) === 2, 90);
  await page.locator(".monaco-editor .view-line", { hasText: "softmax" }).first().click();
  await page.keyboard.press("Home");
  await page.keyboard.press("F8");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+.");
  await page.waitForSelector(".action-widget .monaco-list-row", { timeout: 30000 });
  const titles = (await page.locator(".action-widget .monaco-list-row").allInnerTexts()).map((one) => one.trim());
  say(`actions: ${titles.join(" | ")}`);
  await page.locator(".action-widget .monaco-list-row", { hasText: "(same result)" }).first().click();
  await until("a.py: one squiggle after the quick fix", async () => (await squiggles(page)) === 1);
  await page.keyboard.press("Control+S");
  await until("a.py: fixed on disk by saving", () => onDisk("a.py") === onDisk("a.fixed"));

  await open(page, "n.ipynb");
  await until("n.ipynb: a squiggle in a cell", async () => (await squiggles(page)) >= 1, 90);
  await page.locator(".notebookOverlay .monaco-editor .view-lines").last().click();
  await page.keyboard.press("Control+S");
  await until("n.ipynb: fixed on disk by saving", () => onDisk("n.ipynb").includes("log_softmax"));
}

(async () => {
  const browser = await chromium.launch({
    executablePath: CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"],
  });
  const page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
  let failed = 0;
  try {
    await run(page);
  } catch (error) {
    failed = 1;
    console.error(error.message);
  }
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/last.png` });
  await browser.close();
  process.exit(failed);
})();
