import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { startTestLab, type TestLab } from '../lab/lab.ts'

export interface PageSite {
  readonly lab: TestLab
  readonly browser: Browser
  /** A visitor with browser contexts of its own, so that tests can run at the same time. */
  visitor(): PageVisitor
  stop(): Promise<void>
}

interface PageVisitor {
  /** A new page, as an internal or public caller, or at another origin. Its errors and requests are recorded. */
  readonly open: Open
  /** Closes the pages. Returns what no page may do: errors, content policy violations, requests to other servers. */
  leave(): Promise<readonly string[]>
}

type Open = (path: string, as?: Origin, options?: BrowserContextOptions) => Promise<Page>

/** `plainly`: by a name over plain http, which is no secure context, unlike localhost. */
type Origin = 'inside' | 'outside' | 'plainly' | `http://${string}`

/** Service and edge run on this machine, and the browser resolves every name of the zone to it. */
const PLAIN_ADDRESS = 'http://drawbridge.lab.test:8045'
/** Ends what hangs on a busy machine. */
const PATIENCE_MS = 60_000
const MANY = 100_000
const PLENTY = { plan: MANY, diagnose: MANY, read: MANY, failedCredential: MANY }

/** One lab and one real browser for all suites. Names of the zone resolve to the edge of the Primary. */
export async function startPageSite(): Promise<PageSite> {
  const lab = await startTestLab({
    configure: (config) => ({
      ...config,
      publicUrls: [...(config.publicUrls as string[]), PLAIN_ADDRESS],
      // All suites call from two addresses at the same time.
      rateLimits: { public: { ...PLENTY }, internal: { ...PLENTY } },
      // A badge follows its host as fast as the service allows.
      monitor: { everySeconds: 1 },
    }),
  })
  const { zone, inside, outside, edges } = lab.description
  const browser = await launch(zone, edges.primary.address).catch(async (error) => {
    await lab.stop()
    throw error
  })
  const origins: Record<string, string> = { inside, outside, plainly: PLAIN_ADDRESS }
  return {
    lab,
    browser,
    visitor: () => visitorOf(browser, (as) => origins[as] ?? as),
    async stop() {
      await browser.close()
      await lab.stop()
    },
  }
}

function visitorOf(browser: Browser, originOf: (as: Origin) => string): PageVisitor {
  const complaints: string[] = []
  const pages: Page[] = []
  return {
    async open(path, as = 'inside', options = {}) {
      const origin = originOf(as)
      // Moving pictures are drawn by the processor here.
      const quiet = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } as const
      const context = await browser.newContext({ ...quiet, ...options })
      const page = await context.newPage()
      pages.push(page)
      page.setDefaultTimeout(PATIENCE_MS)
      page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
      page.on('console', (message) => {
        if (message.type() === 'error' && !isOwnRefusal(message.text())) complaints.push(`console: ${message.text()}`)
      })
      page.on('request', (request) => {
        if (!request.url().startsWith(`${origin}/`)) complaints.push(`asked somebody else: ${request.url()}`)
      })
      await page.goto(`${origin}${path}`)
      return page
    },
    async leave() {
      await Promise.all(pages.map((page) => page.context().close()))
      return complaints
    },
  }
}

/** A browser logs each answer over 399, each lost connection and the use of plain http as an error. */
const isOwnRefusal = (text: string): boolean =>
  /^Failed to load resource:|Opener-Policy header has been ignored/.test(text)

const launch = (zone: string, edge: string): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--disable-gpu',
      '--disable-extensions',
      `--host-resolver-rules=MAP *.${zone} ${edge}`,
    ],
  })
