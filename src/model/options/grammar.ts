/**
 * The options of an exposure. Every value has a grammar of its own: a number within bounds, one word of a list, a network, or an id that
 * an administrator has defined. No option is text in nginx's language. The web page imports this file, so it uses nothing of Node.
 */
export interface ExposureOptions {
  /** The largest body of a request: a number with k, m or g. `0`: no limit. */
  readonly maxBody?: string | undefined
  /** In seconds, between the edge and the backend. */
  readonly timeouts?: Timeouts | undefined
  /** False: upgrades to WebSocket are not passed on. */
  readonly websocket?: boolean | undefined
  /** False: requests and responses pass through the edge at once, for streams and large uploads. */
  readonly buffering?: boolean | undefined
  /** Headers that the edge adds to every response of the backend, in place of the backend's own. */
  readonly headers?: ResponseHeaders | undefined
  /** The networks that may visit the host. Everybody else gets 403. */
  readonly allow?: readonly string[] | undefined
  /** The id of a password file in the configuration. */
  readonly basicAuth?: string | undefined
  /** The backend speaks HTTPS, with a certificate of this authority. */
  readonly backendTls?: BackendTls | undefined
  /** Further backends with the same service. The edge turns to them when the first one fails. */
  readonly backends?: readonly Backend[] | undefined
  /** The edge answers 503 with a small page, and does not ask the backend. */
  readonly maintenance?: Maintenance | undefined
  /** Ids of snippets in the configuration. */
  readonly snippets?: readonly string[] | undefined
}

export interface Timeouts {
  readonly connect?: number | undefined
  readonly read?: number | undefined
  readonly send?: number | undefined
}

export interface BackendTls {
  /** The id of an authority in the configuration. */
  readonly authority: string
  /** The name in the backend's certificate. Default: the host of the exposure. */
  readonly name?: string | undefined
}

export interface Backend {
  readonly server: string
  readonly port: number
}

export interface Maintenance {
  /** In seconds. Always there in canonical form. */
  readonly retryAfter?: number | undefined
}

export type ResponseHeaders = { readonly hsts?: StrictTransport | undefined } & {
  readonly [Name in HeaderWord]?: (typeof HEADER_WORDS)[Name]['words'][number] | undefined
}

export interface StrictTransport {
  /** In seconds. */
  readonly maxAge: number
  readonly includeSubDomains?: boolean | undefined
  readonly preload?: boolean | undefined
}

export const MAX_BODY_GRAMMAR = '^(?:0|[1-9][0-9]{0,4}[kmg])$'
/** Of a password file, an authority or a snippet. */
export const OPTION_ID_GRAMMAR = '^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$'

/** nginx gives up a connect after 75 s in any case. */
export const TIMEOUT_BOUNDS = { connect: [1, 75], read: [1, 86_400], send: [1, 86_400] } as const
export const RETRY_AFTER = { lowest: 1, highest: 86_400, usual: 300 } as const
/** Two years, as the preload list of browsers asks for at most. */
export const LONGEST_HSTS = 63_072_000
export const MOST_NETWORKS = 64
export const MOST_BACKENDS = 8
export const MOST_SNIPPETS = 8
/** An empty list of networks could mean everybody or nobody, so no list may be empty. */
export const EMPTY_LIST = 'must not be empty; leave the option out for its default'

/** The headers with one word of a list, and the header of the response for each. */
export const HEADER_WORDS = {
  frameOptions: { header: 'X-Frame-Options', words: ['DENY', 'SAMEORIGIN'] },
  referrerPolicy: {
    header: 'Referrer-Policy',
    words: [
      'no-referrer',
      'no-referrer-when-downgrade',
      'origin',
      'origin-when-cross-origin',
      'same-origin',
      'strict-origin',
      'strict-origin-when-cross-origin',
      'unsafe-url',
    ],
  },
  contentTypeOptions: { header: 'X-Content-Type-Options', words: ['nosniff'] },
  openerPolicy: {
    header: 'Cross-Origin-Opener-Policy',
    words: ['same-origin', 'same-origin-allow-popups', 'unsafe-none'],
  },
  resourcePolicy: { header: 'Cross-Origin-Resource-Policy', words: ['same-origin', 'same-site', 'cross-origin'] },
  embedderPolicy: { header: 'Cross-Origin-Embedder-Policy', words: ['require-corp', 'credentialless', 'unsafe-none'] },
  robots: { header: 'X-Robots-Tag', words: ['noindex', 'nofollow', 'none'] },
} as const satisfies Readonly<Record<string, { readonly header: string; readonly words: readonly string[] }>>

export type HeaderWord = keyof typeof HEADER_WORDS
export const HEADER_NAMES = Object.keys(HEADER_WORDS) as readonly HeaderWord[]
