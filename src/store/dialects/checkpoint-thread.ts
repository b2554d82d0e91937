import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

/** `end`: the database is closed, and the thread ends. */
export type Order = 'checkpoint' | 'end'

/** Only SQLite may open and close the file: any other close in this process would drop the locks of SQLite. */
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
