import type { HostsQuery } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { standardOutput } from '../terminal/print.ts'
import type { Screen } from '../terminal/screen.ts'
import { moment } from '../terminal/text.ts'
import { type HostView, statusLines } from './views/status.ts'

/** Changes within this time are drawn together. */
const DRAW_EVERY_MS = 250

/** Shows the state of the hosts until it is interrupted. Reconnects when the service restarts. */
export async function watchHosts(api: DrawbridgeClient, query: HostsQuery, json: boolean): Promise<void> {
  const screen = standardOutput()
  const view = screen.isTerminal && !json ? redraw(api, query, screen) : await lineByLine(api, query, screen, json)
  await view.refresh()
  for await (const { event, data } of api.hostEvents()) {
    if (event === 'badge') await view.changed(data as HostView)
    // A restarting service can refuse the request; the next event triggers another.
    else await view.refresh().catch(() => undefined)
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
    const body = await api.hosts({ ...query, limit: String(Math.max(1, (process.stdout.rows || 24) - 5)) })
    screen.redraw(...statusLines(body, screen))
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
