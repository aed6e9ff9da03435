// Drives a JupyterLab with jupyterlab-lsp in Chromium: a notebook shows what is wrong, also right after it is typed, and a
// repaired cell shows it no more.
// Environment: URL with the token, CHROMIUM, SHOTS (a folder for screenshots).
const { chromium } = require("playwright-core");

const { URL, CHROMIUM, SHOTS } = process.env;
const begun = Date.now();
const say = (text) => console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s  ${text}`);
const MARKS = ".cm-lintRange-warning, .cm-lintRange-error";

async function until(what, holds, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  say(what);
}

const marked = async (page) => (await page.locator(MARKS).allInnerTexts()).join("");

async function run(page) {
  await page.goto(URL);
  await page.waitForSelector(".jp-Notebook .cm-content", { timeout: 120000 });
  say("notebook");
  await until("the logarithm of a softmax is marked", async () => (await marked(page)) === "tf.math.log(tf.nn.softmax(x))", 90);

  await page.locator(MARKS).first().hover();
  const told = page.locator(".cm-tooltip .cm-diagnostic, .cm-tooltip");
  await told.first().waitFor({ timeout: 30000 });
  await until("its message is shown", async () => (await told.allInnerTexts()).join(" ").includes("logarithm of a softmax"));
  await page.mouse.move(5, 5);

  await page.locator(".jp-Notebook .cm-content").last().click();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("y = tf.nn.log_softmax(x)");
  await until("nothing is marked after the cell was repaired", async () => (await marked(page)) === "");
  await page.keyboard.press("Enter");
  await page.keyboard.type("z = tf.math.log(tf.nn.sigmoid(x))");
  const typed = Date.now();
  await until("what is typed is marked", async () => (await marked(page)) === "tf.math.log(tf.nn.sigmoid(x))");
  say(`${Date.now() - typed} ms after the last key`);
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
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/jupyterlab.png` });
  await browser.close();
  process.exit(failed);
})();
