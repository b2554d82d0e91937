import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { startTestLab, type TestLab } from '../lab/lab.ts'

export interface PageSite {
  readonly lab: TestLab
  readonly browser: Browser
  /** A new page, as an internal or public caller. Its errors and requests are recorded. */
  open(path: string, as?: Visitor, options?: BrowserContextOptions): Promise<Page>
  /** Returns and clears what no page may do: errors, content policy violations, requests to other servers. */
  complaints(): string[]
  stop(): Promise<void>
}

/** `plainly`: by a name over plain http, which is no secure context, unlike localhost. */
type Visitor = 'inside' | 'outside' | 'plainly'

/** Service and edge run on this machine, and the browser resolves every name of the zone to it. */
const PLAIN_ADDRESS = 'http://drawbridge.lab.test:8045'

/** One lab and one real browser for all suites. Names of the zone resolve to the edge of the Primary. */
export async function startPageSite(): Promise<PageSite> {
  const lab = await startTestLab({
    configure: (config) => ({ ...config, publicUrls: [...(config.publicUrls as string[]), PLAIN_ADDRESS] }),
  })
  const { description } = lab
  const browser = await launch(description.zone, description.edges.primary.address).catch(async (error) => {
    await lab.stop()
    throw error
  })
  const origins: Record<Visitor, string> = {
    inside: description.inside,
    outside: description.outside,
    plainly: PLAIN_ADDRESS,
  }
  const complaints: string[] = []
  return {
    lab,
    browser,
    async open(path, as = 'inside', options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(20_000)
      page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
      page.on('console', (message) => {
        if (message.type() === 'error' && !isOwnRefusal(message.text())) complaints.push(`console: ${message.text()}`)
      })
      page.on('request', (request) => {
        if (!request.url().startsWith(`${origins[as]}/`)) complaints.push(`asked somebody else: ${request.url()}`)
      })
      await page.goto(`${origins[as]}${path}`)
      return page
    },
    complaints: () => complaints.splice(0),
    async stop() {
      await browser.close()
      await lab.stop()
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
      `--host-resolver-rules=MAP *.${zone} ${edge}`,
    ],
  })
