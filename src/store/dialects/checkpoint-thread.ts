import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

/** `end`: the database is closed, and the thread ends. */
export type Order = 'checkpoint' | 'end'

/** Runs on a thread of its own, see `Checkpoints`. It must open the file by SQLite alone: closing it otherwise drops SQLite's locks. */
const database = new Database(workerData.file, { fileMustExist: true })

parentPort?.on('message', (order: Order) => {
  if (order === 'end') {
    database.close()
    parentPort?.close()
    return
  }
  try {
    database.pragma('wal_checkpoint(passive)')
  } catch {
    // What is not in the database file yet stays in the log, and the next checkpoint tries again.
  }
  parentPort?.postMessage('done')
})
