import type { EdgeDescription, LabDescription } from './description.ts'
import { edgeFiles } from './nginx.ts'
import { findProgram } from './program.ts'

/** Where an agent listens for a service that speaks with it over TLS. */
export const AGENT_TLS_PORT = 8046

/** The content of `edge.yaml` for an edge of a lab, without the places that its caller chooses. */
export const edgeAgentConfig = (description: LabDescription, edge: EdgeDescription) => ({
  server: edge.server,
  nginx: { ...edgeFiles(edge), binary: findProgram('nginx', 'nginx'), address: edge.address },
  ports: { http: edge.http, https: edge.https },
  zones: [description.zone],
  targets: { addresses: [...new Set([edge.address, ...description.backends.map(({ address }) => address)])] },
})
