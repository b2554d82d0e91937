import { stripVTControlCharacters } from 'node:util'
import type { HostsQuery } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { standardOutput } from '../terminal/print.ts'
import type { Screen } from '../terminal/screen.ts'
import { moment } from '../terminal/text.ts'
import { type HostsView, type HostView, statusLines, worstFirst } from './views/status.ts'

/** Changes within this time are drawn together. */
const DRAW_EVERY_MS = 250
/** How long a host has its state changes without an event. */
const DRAW_AGAIN_MS = 10_000
/** The largest page of the service, which sorts by badge: a blocked host can stand behind many others. */
const MOST_READ = '500'

/** Shows the state of the hosts until it is interrupted. Reconnects when the service restarts. */
export async function watchHosts(api: DrawbridgeClient, query: HostsQuery, json: boolean): Promise<void> {
  const screen = standardOutput()
  const isDrawn = screen.isTerminal && !json
  const view = isDrawn ? redraw(api, query, screen) : await lineByLine(api, query, screen, json)
  await view.refresh()
  // A restarting service can refuse a request; the next event, or the time, triggers another.
  const refresh = () => view.refresh().catch(() => undefined)
  const again = isDrawn ? api.clock.every(DRAW_AGAIN_MS, () => void refresh()) : undefined
  try {
    for await (const { event, data } of api.hostEvents()) {
      if (event === 'badge') await view.changed(data as HostView)
      else await refresh()
    }
  } finally {
    again?.cancel()
  }
}

interface View {
  changed(host: HostView): Promise<void>
  refresh(): Promise<void>
}

function redraw(api: DrawbridgeClient, query: HostsQuery, screen: Screen): View {
  let last = 0
  let isDue = false
  const refresh = async () => {
    last = api.clock.now()
    isDue = false
    const body = await api.hosts({ ...query, limit: MOST_READ })
    screen.redraw(...fittingLines(body, screen, process.stdout.rows || 24))
  }
  return {
    refresh,
    async changed() {
      if (isDue) return
      isDue = true
      const pauseMs = Math.max(0, last + DRAW_EVERY_MS - api.clock.now())
      api.clock.after(pauseMs, () => void refresh().catch(() => undefined))
    },
  }
}

/**
 * What stays on a screen of that many rows: the worst hosts, and what is told below all hosts. That gets the lower half at most, so that
 * it pushes no host off the screen that needs somebody.
 */
function fittingLines(body: HostsView, screen: Screen, rows: number): string[] {
  // The cursor stands on the last row.
  const most = Math.max(2, rows - 1)
  const hosts = worstFirst(body.hosts)
  let lines: string[] = []
  for (let count = Math.min(hosts.length, most); ; count -= 1) {
    lines = statusLines({ ...body, hosts: hosts.slice(0, count) }, screen)
    if (heightOf(lines, screen) <= most || count <= most / 2) break
  }
  while (heightOf(lines, screen) > most) lines.pop()
  return lines
}

/** A terminal breaks a line that is longer than it is wide. */
const heightOf = (lines: readonly string[], { columns }: Screen): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)), 0)

/** For files and pipes: one line for each host, then one line for each change. */
async function lineByLine(api: DrawbridgeClient, query: HostsQuery, screen: Screen, json: boolean): Promise<View> {
  const known = new Map<string, string>()
  const printChange = (host: HostView, at: string) => {
    if (known.get(host.host) === host.badge) return
    known.set(host.host, host.badge)
    screen.print(json ? JSON.stringify(host) : `${moment(at)}  ${host.host}  ${host.badge}`)
  }
  const takesAll = Object.keys(query).every((key) => key === 'limit' || key === 'sort')
  const refresh = async () => {
    const { hosts, at } = await api.allHosts(query)
    for (const host of hosts) printChange(host, at)
  }
  return {
    async changed(host) {
      if (takesAll || known.has(host.host)) printChange(host, new Date(api.clock.now()).toISOString())
      // Whether it is among the wanted hosts now is for the service to say.
      else await refresh().catch(() => undefined)
    },
    refresh,
  }
}
