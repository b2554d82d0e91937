import Database from 'better-sqlite3'

/** One row of a table of Nginx Proxy Manager. */
type ProxyManagerRow = Readonly<Record<string, unknown>>

const TABLES = ['proxy_host', 'redirection_host', 'dead_host', 'stream'] as const

export type ProxyManagerTables = Readonly<Record<(typeof TABLES)[number], readonly ProxyManagerRow[]>>

/** The hosts in a database of Nginx Proxy Manager. Opened for reading only. Throws if it is no such database. */
export function readProxyManager(file: string): ProxyManagerTables {
  const database = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const known = new Set(database.prepare(`select name from sqlite_master where type = 'table'`).pluck().all())
    if (!known.has('proxy_host')) throw new Error('it has no table proxy_host')
    const rows = (table: string) =>
      known.has(table) ? (database.prepare(`select * from ${table} order by id`).all() as ProxyManagerRow[]) : []
    const [proxy_host, redirection_host, dead_host, stream] = TABLES.map(rows)
    return {
      proxy_host: proxy_host ?? [],
      redirection_host: redirection_host ?? [],
      dead_host: dead_host ?? [],
      stream: stream ?? [],
    }
  } finally {
    database.close()
  }
}
