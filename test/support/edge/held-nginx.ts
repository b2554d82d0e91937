import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../../lab/program.ts'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { SHADOW_PREFIX } from '../../../src/estate/layout.ts'
import { tempFolder } from '../temp-folder.ts'

export interface HeldNginx extends Disposable {
  /** The configuration of a service that starts nginx through this. */
  configure(config: ServiceConfig): ServiceConfig
  /** Changes of the edge wait from now on. */
  hold(): void
  /** They go on. */
  release(): void
}

/**
 * A stand-in for the program nginx of one server that runs nginx, but waits before the test of a change while it is held. So an edge is
 * at work for as long as a test needs, and what comes meanwhile waits behind that change. nginx itself serves all the time.
 */
export function heldNginx(server: string): HeldNginx {
  const folder = tempFolder()
  const [binary, held] = [join(folder.path, 'held-nginx'), join(folder.path, 'held')]
  const nginx = findProgram('nginx', 'nginx')
  writeFileSync(
    binary,
    `#!/bin/sh\ncase "$*" in *${SHADOW_PREFIX}*) while [ -e ${held} ]; do sleep 0.02; done;; esac\nexec ${nginx} "$@"\n`,
  )
  chmodSync(binary, 0o755)
  const release = () => rmSync(held, { force: true })
  return {
    configure: (config) => {
      const edges = config.edges as Readonly<Record<string, object>>
      return { ...config, edges: { ...edges, [server]: { ...edges[server], binary } } }
    },
    hold: () => writeFileSync(held, ''),
    release,
    [Symbol.dispose]() {
      release()
      folder[Symbol.dispose]()
    },
  }
}
