import { endOf } from './end.ts'

endOf('bookworm')
