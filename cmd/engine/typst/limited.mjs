import vm from "node:vm";

const shared = vm.createContext({ __proto__: null });

// limited runs a function for a number of milliseconds of processor time. Then it throws ERR_SCRIPT_EXECUTION_TIMEOUT.
// The engine stops the function by the clock. On a busy machine a process may get little processor time. The function
// then gets more time of the clock, up to 16 times as much.
export function limited(run, milliseconds) {
  shared.run = run;
  for (let timeout = milliseconds; ; timeout *= 2) {
    const before = process.cpuUsage();
    try {
      return vm.runInContext("run()", shared, { timeout });
    } catch (e) {
      const { user, system } = process.cpuUsage(before);
      const hadItsTime = user + system >= 800 * milliseconds; // in microseconds; a tick may be missing
      if (e?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT" || hadItsTime || timeout >= 16 * milliseconds) throw e;
    }
  }
}
