import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely'
import type { Schema } from './schema.ts'

/** Stands for a value while a statement is compiled. */
class Place {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const places = new Proxy({}, { get: (_, name) => new Place(String(name)) })

/**
 * A statement that is built and compiled once for each store: to do both at every call takes longer than SQLite takes to execute it.
 * `build` passes the values on and does not look at them: it gets stand-ins.
 */
export function statement<Given extends object, Row>(
  build: (db: Kysely<Schema>, given: Given) => Compilable<Row>,
): (db: Kysely<Schema>, given: Given) => Promise<QueryResult<Row>> {
  const compiled = new WeakMap<object, CompiledQuery<Row>>()
  return (db, given) => {
    // Transactions have the adapter of their store.
    const { adapter } = db.getExecutor()
    const query = compiled.get(adapter) ?? build(db, places as Given).compile()
    compiled.set(adapter, query)
    const filled = (value: unknown) => (value instanceof Place ? given[value.name as keyof Given] : value)
    return db.executeQuery({ ...query, parameters: query.parameters.map(filled) })
  }
}
