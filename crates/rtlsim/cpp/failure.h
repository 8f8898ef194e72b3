// What Verilator reports (messages, $fatal, failed assertions) on its way to the caller.
#pragma once

#include <stdexcept>
#include <string>

namespace sluice {

/// Thrown from Verilator's code where it cannot go on (no convergence).
struct Fatal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Collects messages of the instance that this thread runs. One at a time is current.
class Failure {
 public:
  void print(const std::string &text);
  void stop(const std::string &text);
  bool stopped() const { return stopped_; }
  const std::string &text() const { return text_; }
  /// Messages that did not stop anything ($display, $warning).
  const std::string &log() const { return log_; }

  /// Makes this one the receiver for as long as the guard lives.
  class Current {
   public:
    explicit Current(Failure &failure);
    ~Current();

   private:
    Failure *before_;
  };

 private:
  bool stopped_ = false;
  std::string text_;
  std::string log_;
};

}  // namespace sluice
