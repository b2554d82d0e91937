import { z } from 'zod'
import {
  HEADER_NAMES,
  HEADER_WORDS,
  LONGEST_HSTS,
  MAX_BODY_GRAMMAR,
  MOST_BACKENDS,
  MOST_NETWORKS,
  MOST_SNIPPETS,
  OPTION_ID_GRAMMAR,
  RETRY_AFTER,
  TIMEOUT_BOUNDS,
} from '../model/options/grammar.ts'
import { SERVER_GRAMMAR } from '../plan/desired.ts'

const seconds = ([lowest, highest]: readonly [number, number]) => z.number().int().min(lowest).max(highest).optional()
const id = z.string().regex(new RegExp(OPTION_ID_GRAMMAR))

const words = Object.fromEntries(
  HEADER_NAMES.map((name) => [
    name,
    z.enum(HEADER_WORDS[name].words).optional().describe(`The value of ${HEADER_WORDS[name].header}`),
  ]),
)

export const OptionsArgument = z.strictObject({
  maxBody: z
    .string()
    .regex(new RegExp(MAX_BODY_GRAMMAR))
    .optional()
    .describe('The largest body of a request, such as 50m. 0: no limit. Default: 64m'),
  timeouts: z
    .strictObject({
      connect: seconds(TIMEOUT_BOUNDS.connect),
      read: seconds(TIMEOUT_BOUNDS.read),
      send: seconds(TIMEOUT_BOUNDS.send),
    })
    .optional()
    .describe('In seconds, between the edge and the backend'),
  websocket: z.boolean().optional().describe('Whether WebSocket upgrades are passed on. Default: true'),
  buffering: z.boolean().optional().describe('Whether the edge buffers requests and responses. Default: true'),
  headers: z
    .strictObject({
      hsts: z
        .strictObject({
          maxAge: z.number().int().min(0).max(LONGEST_HSTS),
          includeSubDomains: z.boolean().optional(),
          preload: z.boolean().optional(),
        })
        .optional()
        .describe('Strict-Transport-Security'),
      ...words,
    })
    .optional()
    .describe('Response headers'),
  allow: z
    .array(z.string().max(49))
    .min(1)
    .max(MOST_NETWORKS)
    .optional()
    .describe('The networks that may visit the host, such as 10.0.0.0/8'),
  basicAuth: id.optional().describe('The id of a password file in the configuration'),
  backendTls: z
    .strictObject({ authority: id, name: z.string().max(254).optional() })
    .optional()
    .describe('The backend speaks HTTPS with a certificate of this authority of the configuration'),
  backends: z
    .array(
      z.strictObject({
        server: z.string().regex(new RegExp(SERVER_GRAMMAR)),
        port: z.number().int().min(1).max(65_535),
      }),
    )
    .min(1)
    .max(MOST_BACKENDS)
    .optional()
    .describe('Further backends for when the first one fails'),
  maintenance: z
    .strictObject({ retryAfter: z.number().int().min(RETRY_AFTER.lowest).max(RETRY_AFTER.highest).optional() })
    .optional()
    .describe('The edge answers 503 with a small page'),
  snippets: z.array(id).min(1).max(MOST_SNIPPETS).optional().describe('Ids of snippets in the configuration'),
})
