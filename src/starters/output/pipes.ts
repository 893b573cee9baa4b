/** A reader that goes away (`holdfast get | head -1`) ends the command quietly instead of with a stack trace. */
export function survivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
}
