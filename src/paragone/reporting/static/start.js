window.paragone.start();
