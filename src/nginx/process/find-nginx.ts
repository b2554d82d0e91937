import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { isWrittenByUs } from '../../estate/layout.ts'
import { BaseFile } from '../../estate/reading/base-file.ts'
import { isRunByRoot } from '../../estate/reading/edge-reader.ts'
import { ParsedConfiguration } from '../../estate/reading/parsed-configuration.ts'
import { refusalSentence } from '../../estate/reading/refusal.ts'
import { directivesIn } from '../../estate/reading/text/directives.ts'
import { impliedListening } from '../../estate/reading/text/listen.ts'
import type { Clock } from '../../primitives/clock.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { Slices } from '../../primitives/slices.ts'
import { buildFault, readBuild } from './nginx-build.ts'
import { testConfiguration } from './nginx-program.ts'
import { masterPid } from './nginx-workers.ts'

/** The known settings of an nginx, before its program is run. */
interface AskedNginx {
  readonly binary: string
  readonly config?: string | undefined
  readonly prefix?: string | undefined
  readonly folder?: string | undefined
}

interface FoundListen {
  readonly place: string
  readonly servers: number
  readonly defaultServer: { readonly path: string; readonly line: number; readonly isExplicit: boolean }
}

/** An nginx as its configuration describes it. Rejects with an EdgeFault if Drawbridge cannot use it. */
export async function findNginx(asked: AskedNginx, clock: Clock) {
  const { binary } = asked
  const build = await readBuild(binary, clock)
  const fault = buildFault(build)
  if (fault !== undefined) throw new EdgeFault('unavailable', fault)
  const { config, main } = readMain(asked.config ?? build.config ?? '/etc/nginx/nginx.conf')
  const prefix = asked.prefix
  const refusal = await testConfiguration({ binary, prefix, clock }, config)
  if (refusal)
    throw new EdgeFault('config_broken', `nginx does not load ${config}: ${refusalSentence(refusal)}. Repair it first.`)
  const directives = directivesIn(main)
  const own = (name: string) => directives.findLast((one) => one.name === name && one.context.length === 0)?.args[0]
  const base = prefix ?? build.prefix ?? '/'
  const pidFile = resolve(base, own('pid') ?? build.pidFile ?? '/run/nginx.pid')
  const log = own('error_log')
  const isFile = log !== undefined && log !== 'stderr' && !log.startsWith('syslog:')
  return {
    ...{ binary, version: build.version, config, prefix, pidFile, main },
    errorLog: resolve(base, isFile ? log : (build.errorLog ?? '/var/log/nginx/error.log')),
    master: masterPid(pidFile),
    includes: directives
      .filter(({ name, context }) => name === 'include' && context.join() === 'http')
      .map(({ args }) => args[0] ?? ''),
    ...(await serversIn(config, pidFile, asked.folder ?? join(dirname(config), 'drawbridge'), clock)),
  }
}

/** The path without links, and the text. */
function readMain(path: string): { config: string; main: string } {
  try {
    const config = realpathSync(path)
    return { config, main: readFileSync(config, 'utf8') }
  } catch (error) {
    throw new EdgeFault(
      'unavailable',
      `The nginx configuration ${path} cannot be read (${errorCode(error)}). Check the path and the permissions.`,
    )
  }
}

/** The servers outside the folder of Drawbridge. */
async function serversIn(config: string, pidFile: string, folder: string, clock: Clock) {
  const configuration = new ParsedConfiguration({ config, folder, clock }, 'servers')
  const { servers: all } = await configuration.read(new BaseFile(folder).read(), [], new Slices(clock))
  const servers = all.filter(({ path }) => !isWrittenByUs(folder, path))
  const isRoot = isRunByRoot(pidFile)
  const listens = new Map<string, FoundListen>()
  for (const { path, line, listen } of servers) {
    for (const { address, port, isDefault } of listen.length > 0 ? listen : [impliedListening(isRoot)]) {
      const place = port === null ? address : `${address}:${port}`
      const known = listens.get(place)
      const isFirst = !known || (isDefault && !known.defaultServer.isExplicit)
      listens.set(place, {
        place,
        servers: (known?.servers ?? 0) + 1,
        defaultServer: isFirst ? { path, line, isExplicit: isDefault } : known.defaultServer,
      })
    }
  }
  return { servers: servers.length, listens: [...listens.values()] }
}
