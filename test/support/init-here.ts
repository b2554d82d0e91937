import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InitOptions } from '../../src/operate/init/answers.ts'
import type { InitParts } from '../../src/operate/init/contract.ts'
import { init } from '../../src/operate/init/init.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { tempFolder } from './temp-folder.ts'

export const INCLUDE = '  include drawbridge/*.conf;\n'
const MAIN = 'http {\n}\n'

/** A folder with an `nginx.conf`, and `drawbridge init` on it. What the machine would do is a stand-in: nginx and DNS agree to everything. */
export function initHere({ main = MAIN }: { readonly main?: string } = {}) {
  const folder = tempFolder()
  const path = (...names: string[]) => join(folder.path, ...names)
  for (const name of ['etc', 'nginx']) mkdirSync(path(name))
  const [config, base] = [path('nginx', 'nginx.conf'), path('nginx', 'drawbridge', '00-base.conf')]
  writeFileSync(config, main)
  const standIns: InitParts = {
    clock: systemClock,
    findNginx: async () => ({
      ...{ binary: 'nginx', version: '1.27', config, prefix: undefined, main: readFileSync(config, 'utf8') },
      ...{ pidFile: '/run/nginx.pid', errorLog: '/var/log/nginx/error.log', master: 1 },
      ...{ includes: [], servers: 0, listens: [] },
    }),
    withInclude: (text) => (text.includes(INCLUDE) ? text : text.replace('}', `${INCLUDE}}`)),
    assertUnchanged: () => undefined,
    serviceUser: () => undefined,
    rehearse: async () => [],
    rehearseAsUnit: async () => undefined,
    withEdge: async () => writeFileSync(base, ''),
    leave: async () => writeFileSync(config, readFileSync(config, 'utf8').replace(INCLUDE, '')),
    isPrepared: () => existsSync(base),
    assertAuthoritative: async () => undefined,
    findDnsServer: async () => undefined,
    assertKeyWorks: async () => undefined,
  }
  const options: InitOptions = {
    ...{ config: path('etc', 'drawbridge.yaml'), zone: 'example.com', dnsServer: '127.0.0.1', address: '192.0.2.10' },
    ...{ server: '23', internalNetwork: ['192.0.2.0/24'], target: ['none'], tsigName: 'drawbridge' },
    ...{ nginx: 'nginx', httpPort: '80', httpsPort: '443', apiPort: '8045', stateDir: path('state') },
    ...{ acmeDirectory: 'letsencrypt', agent: true, yes: true },
  }
  return {
    path,
    standIns,
    /** What it printed, or its refusal. */
    async call(given: Partial<InitOptions> = {}, parts: Partial<InitParts> = {}): Promise<string> {
      return this.callWith({ ...options, ...given }, parts)
    },
    /** The same with no other options than these and the place of the configuration. */
    async callWith(given: Partial<InitOptions>, parts: Partial<InitParts> = {}): Promise<string> {
      const printed: string[] = []
      const screen = { print: (...lines: string[]) => void printed.push(...lines) }
      await init({ config: options.config, ...given }, { ...standIns, ...parts }, screen as never, undefined).catch(
        (error: Error) => printed.push(`refused: ${error.message}`),
      )
      return printed.join('\n')
    },
    text: (...names: string[]) => readFileSync(path(...names), 'utf8'),
    mode: (...names: string[]) => statSync(path(...names)).mode & 0o777,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}
