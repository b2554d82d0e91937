import type { HostsQuery } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { standardOutput } from '../terminal/escape-text.ts'
import type { Screen } from '../terminal/screen.ts'
import { moment } from '../terminal/text.ts'
import { type HostView, statusLines } from './views/status.ts'

/** A burst of changes is drawn once. */
const DRAW_EVERY_MS = 250
const HOME_AND_CLEAR = '\u001b[H\u001b[2J'

/** Shows how hosts do until it is interrupted. A service that goes away is waited for. */
export async function watchHosts(api: DrawbridgeClient, query: HostsQuery, json: boolean): Promise<void> {
  const screen = standardOutput()
  const show = screen.isTerminal && !json ? redraw(api, query, screen) : await lineByLine(api, query, screen, json)
  await show.again()
  for await (const { event, data } of api.hostEvents()) {
    if (event === 'badge') await show.changed(data as HostView)
    // The service may be on its way up again: the next event tells the same.
    else await show.again().catch(() => undefined)
  }
}

interface Show {
  changed(host: HostView): Promise<void>
  again(): Promise<void>
}

function redraw(api: DrawbridgeClient, query: HostsQuery, screen: Screen): Show {
  let last = 0
  let isDue = false
  const again = async () => {
    last = Date.now()
    isDue = false
    const body = await api.hosts({ ...query, limit: String(Math.max(1, (process.stdout.rows || 24) - 5)) })
    screen.say(`${HOME_AND_CLEAR}${statusLines(body, screen).join('\n')}`)
  }
  return {
    again,
    async changed() {
      if (isDue) return
      isDue = true
      setTimeout(() => void again().catch(() => undefined), Math.max(0, last + DRAW_EVERY_MS - Date.now()))
    },
  }
}

/** For files and pipes: how each host does, then one line for each change. */
async function lineByLine(api: DrawbridgeClient, query: HostsQuery, screen: Screen, json: boolean): Promise<Show> {
  const known = new Map<string, string>()
  const tellOf = (host: HostView, at: string) => {
    if (known.get(host.host) === host.badge) return
    known.set(host.host, host.badge)
    screen.say(json ? JSON.stringify(host) : `${moment(at)}  ${host.host}  ${host.badge}`)
  }
  const fits = ({ host }: HostView) => known.has(host) || Object.keys(query).every((key) => key === 'limit')
  return {
    changed: async (host) => void (fits(host) && tellOf(host, new Date().toISOString())),
    async again() {
      const { hosts, at } = await api.allHosts(query)
      for (const host of hosts) tellOf(host, at)
    },
  }
}
