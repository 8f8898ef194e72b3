#include "failure.h"

#include <verilated.h>

#include <cstdarg>
#include <cstdio>

namespace sluice {

namespace {
thread_local Failure *current = nullptr;
// What a long run of warnings may keep.
constexpr size_t kLogRoom = 4096;
}  // namespace

void Failure::print(const std::string &text) {
  log_ += text;
  if (log_.size() > kLogRoom) log_.erase(0, log_.size() - kLogRoom);
}

void Failure::stop(const std::string &text) {
  // The first failure is the cause; what was printed just before it says which claim failed.
  if (stopped_) return;
  stopped_ = true;
  text_ = log_ + text;
}

Failure::Current::Current(Failure &failure) : before_(current) { current = &failure; }
Failure::Current::~Current() { current = before_; }

#ifdef VL_USER_STOP
namespace {
std::string at(const char *file, int line, const char *what) {
  return std::string(file ? file : "") + ":" + std::to_string(line) + ": " + what;
}
void report(const std::string &text) {
  if (current) current->stop(text);
}
}  // namespace
#endif

}  // namespace sluice

#ifdef VL_USER_STOP
// Verilator's hooks, see verilator_hooks.h.

extern "C" int sluice_hook_printf(const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (sluice::current) sluice::current->print(text);
  return length;
}

void vl_finish(const char *file, int line, const char *) { sluice::report(sluice::at(file, line, "$finish")); }

void vl_stop(const char *file, int line, const char *) { sluice::report(sluice::at(file, line, "the simulation stopped itself")); }

void vl_fatal(const char *file, int line, const char *, const char *message) {
  const std::string text = sluice::at(file, line, message);
  sluice::report(text);
  throw sluice::Fatal(text);
}

void vl_warn(const char *file, int line, const char *, const char *message) {
  if (sluice::current) sluice::current->print(sluice::at(file, line, message) + "\n");
}
#endif
