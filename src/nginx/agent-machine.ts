import type { AgentMachine } from '../edge/agent/machine.ts'
import { edgeReader } from '../estate/reading/edge-reader.ts'
import type { EdgeSettings } from '../estate/settings.ts'
import { findSite, targetAt } from './adopt/find-site.ts'
import { entryText } from './entry-text.ts'
import { PresentGeneration } from './generations/present.ts'
import { type LocalEdgeParts, localEdge } from './local-edge.ts'
import { edgePreflight } from './preflight.ts'
import { listeningReader } from './process/neighbours.ts'
import { masterPid } from './process/nginx-workers.ts'
import { edgeView } from './view.ts'

/** The nginx of an agent. */
export function agentMachine(
  settings: EdgeSettings,
  parts: Pick<LocalEdgeParts, 'lock' | 'onIgnoredFence' | 'onForgottenRuns'>,
): AgentMachine {
  const { server, folder, address, listen, ports, clock, named } = settings
  const reader = edgeReader(settings)
  const preflight = edgePreflight(settings, reader)
  const present = new PresentGeneration(folder)
  const edge = localEdge(settings, {
    ...{ ...parts, listening: listeningReader(settings) },
    loaded: (since) => preflight.markLoaded(since),
  })
  return {
    ...{ server, folder, address, listen, ports, clock, edge, reader, preflight },
    view: edgeView(settings, reader),
    get generation() {
      return present.number
    },
    entryOf: (host) => present.find(host)?.entry,
    show: (host) => entryText(settings, host),
    findSite: (host, targets) => findSite(settings, host, { ports, named, serverAt: targetAt(targets, server) }),
    masterPid: () => masterPid(settings.pidFile),
  }
}
