import type { Section } from './section.ts'
import type { Servers } from './servers.ts'
import * as value from './values.ts'

/** One nginx on this machine that serves exposures. */
interface EdgeSetting {
  readonly config: string
  readonly folder: string
  readonly prefix: string | undefined
  readonly binary: string
  readonly pidFile: string
  readonly errorLog: string
  /** Where it is asked. */
  readonly address: string
  /** Where it listens. */
  readonly listen: readonly string[]
}

/** By the id of the server that each plays. */
export type Edges = Readonly<Record<string, EdgeSetting>>

/** Without the setting the Primary is an nginx as Debian installs it. */
export function readEdges(root: Section, path: typeof value.text, { addresses, primary }: Servers): Edges {
  const section = root.section('edges')
  const servers = root.has('edges') ? section.keys() : [primary]
  for (const unknown of servers.filter((server) => addresses[server] === undefined)) {
    section.refuse(unknown, `is not allowed; allowed: ids of servers: ${Object.keys(addresses).join(', ')}`)
  }
  return Object.fromEntries(
    servers.map((server) => [server, readEdge(section.section(server), path, addresses[server] ?? '')]),
  )
}

function readEdge(section: Section, path: typeof value.text, registered: string): EdgeSetting {
  // It becomes part of nginx's own text.
  const plainPath: typeof value.text = (given) => {
    const absolute = path(given)
    return absolute !== undefined && /^[A-Za-z0-9._/-]+$/.test(absolute) ? absolute : undefined
  }
  const program: typeof value.text = (given) =>
    typeof given === 'string' && given.includes('/') ? path(given) : value.text(given)
  const file = 'the path of a file'
  const address = section.read('address', registered, value.address, 'an IP address of the edge')
  return {
    config: section.read('config', '/etc/nginx/nginx.conf', plainPath, `${file}: letters, digits and . _ - /`),
    folder: section.read(
      'folder',
      '/etc/nginx/drawbridge',
      plainPath,
      'the path of a folder: letters, digits and . _ - /',
    ),
    prefix: section.read('prefix', undefined, path, 'the path of a folder'),
    binary: section.read('binary', 'nginx', program, 'a program'),
    pidFile: section.read('pidFile', '/run/nginx.pid', path, file),
    errorLog: section.read('errorLog', '/var/log/nginx/error.log', path, file),
    address,
    listen: section.list('listen', [address], value.address, 'IP addresses of the edge'),
  }
}
